// ends: out_of_fuel
for (;;); function t() {}
