// ends: ok
function t() { let a = []; for (let n = 0; n < 100000; n++) a = [a]; console.log(a); return 1 }
