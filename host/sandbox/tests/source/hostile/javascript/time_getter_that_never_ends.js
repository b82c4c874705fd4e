// ends: out_of_fuel
function t() { return { get a() { for (;;); } } }
