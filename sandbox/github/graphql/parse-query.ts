// The part of GraphQL's query language that GitHub clients use: one operation, variables, aliases, arguments, and
// inline and named fragments. Directives are not supported.
export interface GraphqlQueryField {
  readonly name: string
  readonly alias: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly fields: readonly GraphqlQueryField[] | undefined
}

export interface GraphqlOperation {
  readonly kind: 'query' | 'mutation'
  readonly fields: readonly GraphqlQueryField[]
}

const graphqlTokenPattern =
  /\s*(?:#[^\n]*\n\s*)*(?:,\s*)*("(?:[^"\\]|\\.)*"|\.\.\.|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[{}()[\]:$!=@]|$)/y

class GraphqlTokenReader {
  readonly #tokens: string[] = []
  readonly #variables: Readonly<Record<string, unknown>>
  #at = 0

  constructor(text: string, variables: Readonly<Record<string, unknown>>) {
    this.#variables = variables
    graphqlTokenPattern.lastIndex = 0
    for (;;) {
      const found = graphqlTokenPattern.exec(text)
      if (found === null) throw new Error('Parse error')
      if (found[1] === undefined || found[1] === '') break
      this.#tokens.push(found[1])
    }
  }

  get next(): string | undefined {
    return this.#tokens[this.#at]
  }
  get done(): boolean {
    return this.#at >= this.#tokens.length
  }
  take(): string {
    const found = this.#tokens[this.#at++]
    if (found === undefined) throw new Error('Parse error: unexpected end')
    return found
  }
  expect(wanted: string): void {
    const found = this.take()
    if (found !== wanted) throw new Error(`Parse error on "${found}"`)
  }
  /** Skips the contents of a pair of brackets: the declarations of variables. */
  skip(): void {
    this.expect('(')
    while (this.take() !== ')');
  }

  value(): unknown {
    const found = this.take()
    if (found === '$') return this.#variables[this.take()]
    if (found === '[') return this.#list()
    if (found === '{') return this.#object('}')
    if (found.startsWith('"')) return JSON.parse(found)
    if (/^-?\d/.test(found)) return Number(found)
    if (found === 'null') return null
    return found === 'true' ? true : found === 'false' ? false : found
  }
  #list(): unknown[] {
    const items: unknown[] = []
    while (this.next !== ']') items.push(this.value())
    this.take()
    return items
  }
  #object(end: string): Record<string, unknown> {
    const entries: Record<string, unknown> = {}
    while (this.next !== end) {
      const name = this.take()
      this.expect(':')
      entries[name] = this.value()
    }
    this.take()
    return entries
  }
  arguments(): Record<string, unknown> {
    if (this.next !== '(') return {}
    this.take()
    return this.#object(')')
  }
}

type GraphqlSelection = GraphqlQueryField | { readonly fragment: string }

function parseQuerySelections(reader: GraphqlTokenReader): GraphqlSelection[] {
  reader.expect('{')
  const found: GraphqlSelection[] = []
  while (reader.next !== '}') {
    const first = reader.take()
    if (first === '...') {
      if (reader.next === 'on') {
        reader.take()
        reader.take()
      }
      if (reader.next === '{') found.push(...parseQuerySelections(reader))
      else found.push({ fragment: reader.take() })
      continue
    }
    const hasAlias = reader.next === ':'
    if (hasAlias) reader.take()
    const name = hasAlias ? reader.take() : first
    const given = reader.arguments()
    const fields = reader.next === '{' ? (parseQuerySelections(reader) as GraphqlQueryField[]) : undefined
    found.push({ name, alias: first, arguments: given, fields })
  }
  reader.take()
  return found
}

/** Parses a request's operation and substitutes its variables. Throws on a syntax error. */
export function parseQuery(
  text: string,
  variables: Readonly<Record<string, unknown>> = {},
): GraphqlOperation {
  const reader = new GraphqlTokenReader(text, variables)
  const fragments = new Map<string, GraphqlSelection[]>()
  let operation: { kind: GraphqlOperation['kind']; found: GraphqlSelection[] } | undefined
  while (!reader.done) {
    if (reader.next === 'fragment') {
      reader.take()
      const name = reader.take()
      reader.expect('on')
      reader.take()
      fragments.set(name, parseQuerySelections(reader))
      continue
    }
    const kind = reader.next === '{' ? 'query' : reader.take()
    if (kind !== 'query' && kind !== 'mutation') throw new Error(`Parse error on "${kind}"`)
    if (reader.next !== '{' && reader.next !== '(') reader.take()
    if (reader.next === '(') reader.skip()
    operation = { kind, found: parseQuerySelections(reader) }
  }
  if (operation === undefined) throw new Error('A query attribute must be specified and must be a string.')
  const expandFragments = (found: readonly GraphqlSelection[]): GraphqlQueryField[] =>
    found.flatMap((it) =>
      'fragment' in it
        ? expandFragments(fragments.get(it.fragment) ?? [])
        : [{ ...it, fields: it.fields === undefined ? undefined : expandFragments(it.fields) }],
    )
  return { kind: operation.kind, fields: expandFragments(operation.found) }
}
