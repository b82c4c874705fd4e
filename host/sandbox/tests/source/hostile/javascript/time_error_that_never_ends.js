// ends: out_of_fuel
function t() { throw { get message() { for (;;); } } }
