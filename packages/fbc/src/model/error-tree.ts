// opm's error tree and its printed form.

export interface ErrorTree {
  readonly text: string
  readonly causes: readonly ErrorTree[]
}

export function createErrorLeaf(text: string): ErrorTree {
  return { text, causes: [] }
}

/** Returns an empty list without causes. */
export function createErrorNode(text: string, causes: readonly ErrorTree[]): ErrorTree[] {
  return causes.length === 0 ? [] : [{ text, causes }]
}

/** Does not end in a newline. Like opm, does not indent the continuation lines of multiline messages. */
export function formatErrorTree(tree: ErrorTree): string {
  const lines: string[] = []
  appendErrorLines(tree, '', '', lines)
  return lines.join('\n').trim()
}

function appendErrorLines(node: ErrorTree, mark: string, indent: string, lines: string[]): void {
  lines.push(mark + node.text + (node.causes.length > 0 ? ':' : ''))
  for (const [index, cause] of node.causes.entries()) {
    const last = index === node.causes.length - 1
    appendErrorLines(cause, indent + (last ? '└── ' : '├── '), indent + (last ? '    ' : '│   '), lines)
  }
}
