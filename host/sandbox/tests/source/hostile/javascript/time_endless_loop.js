// ends: out_of_fuel
function t() { for (;;); }
