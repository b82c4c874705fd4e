// ends: out_of_fuel
function t() { return [1, 2].sort(() => { for (;;); }) }
