// ends: out_of_fuel
function* n() { for (;;) yield 'text' }
function t() { return [...n()] }
