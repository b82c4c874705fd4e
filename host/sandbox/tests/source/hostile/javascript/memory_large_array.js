// ends: out_of_fuel
function t() { return new Array(2 ** 32 - 1).fill(0) }
