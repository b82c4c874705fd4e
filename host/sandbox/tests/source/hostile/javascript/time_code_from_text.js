// ends: out_of_fuel
function t() { return new Function('for (;;);')() }
