// ends: out_of_fuel
async function t() { for (;;) await null }
