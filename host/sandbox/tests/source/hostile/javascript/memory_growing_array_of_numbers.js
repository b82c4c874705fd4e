// ends: out_of_fuel
function t() { const a = []; for (;;) a.push(a.length) }
