// ends: trap
function t() { return 'x'.repeat(2 ** 30) }
