// ends: out_of_fuel
function t() { return /^(a+)+$/.test('a'.repeat(60) + 'b') }
