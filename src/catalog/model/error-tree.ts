// opm's tree of errors and its printed form. Knows no rules: they bring the texts.

export interface ErrorTree {
  readonly text: string
  readonly causes: readonly ErrorTree[]
}

export function leaf(text: string): ErrorTree {
  return { text, causes: [] }
}

/** A node with causes; none at all without them. */
export function node(text: string, causes: readonly ErrorTree[]): ErrorTree[] {
  return causes.length === 0 ? [] : [{ text, causes }]
}

/** The tree as opm prints it, without a newline at the end. Texts that hold newlines are not indented further. */
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
