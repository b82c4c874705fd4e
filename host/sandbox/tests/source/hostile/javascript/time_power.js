// ends: out_of_fuel
function t() { return String(7n ** 9999999n).length }
