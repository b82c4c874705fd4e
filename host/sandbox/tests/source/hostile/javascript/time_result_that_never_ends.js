// ends: out_of_fuel
function t() { return { toJSON() { for (;;); } } }
