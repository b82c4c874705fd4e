// ends: out_of_fuel
function* n() { for (;;) yield 1 }
function t() { let s = 0; for (const i of n()) s = i; return s }
