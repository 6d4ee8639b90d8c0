// Finds cycles in a graph: sets of modules that cannot be read or tested separately.

/** Every set of nodes that reach each other, sorted. An edge from a node to itself is not a cycle. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  // Tarjan's algorithm: a node whose lowest reachable number is its own completes the cycle of all nodes above it on
  // the stack.
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (node: string): number => {
    const number = numbers.size
    numbers.set(node, number)
    open.push(node)
    let low = number
    for (const next of graph.get(node) ?? []) {
      if (!numbers.has(next)) low = Math.min(low, visit(next))
      else if (open.includes(next)) low = Math.min(low, lowest.get(next) ?? numbers.get(next) ?? low)
    }
    lowest.set(node, low)
    if (low === number) {
      const circle = open.splice(open.indexOf(node))
      if (circle.length > 1) circles.push(circle.sort())
    }
    return low
  }
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node)
  return circles.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1))
}
