// ends: out_of_fuel
function t() { return new Proxy({}, { ownKeys() { for (;;); } }) }
