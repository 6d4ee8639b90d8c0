// opm's error tree and its printed form.

export interface ErrorTree {
  readonly text: string
  readonly causes: readonly ErrorTree[]
}

export function leaf(text: string): ErrorTree {
  return { text, causes: [] }
}

/** Returns an empty list without causes. */
export function node(text: string, causes: readonly ErrorTree[]): ErrorTree[] {
  return causes.length === 0 ? [] : [{ text, causes }]
}

/** No newline at the end. Like opm, doesn't indent further lines of multi-line texts. */
export function printErrorTree(tree: ErrorTree): string {
  const lines: string[] = []
  print(tree, '', '', lines)
  return lines.join('\n').trim()
}

function print(node: ErrorTree, mark: string, carried: string, lines: string[]): void {
  lines.push(mark + node.text + (node.causes.length > 0 ? ':' : ''))
  for (const [index, cause] of node.causes.entries()) {
    const last = index === node.causes.length - 1
    print(cause, carried + (last ? '└── ' : '├── '), carried + (last ? '    ' : '│   '), lines)
  }
}
