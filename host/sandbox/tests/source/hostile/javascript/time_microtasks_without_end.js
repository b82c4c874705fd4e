// ends: out_of_fuel
function t() { const again = () => queueMicrotask(again); again(); return 1 }
