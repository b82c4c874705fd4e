// ends: out_of_memory
function t() { let s = 'x'; for (;;) s += s }
