"""What the clients of every release expect of agents, a module for each thing that a server has."""
