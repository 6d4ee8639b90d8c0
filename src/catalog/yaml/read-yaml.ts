// The first YAML document of a text, as the value that opm's conversion to JSON gives. Never throws on bad text.
import type { Value } from '../tree.ts'
import { compose } from './compose.ts'
import { Cursor } from './cursor.ts'
import type { YamlText } from './encoding.ts'
import { parseDocument } from './parser.ts'
import { Scanner } from './scanner.ts'
import type { Token } from './token.ts'
import { YamlError } from './yaml-error.ts'

export type YamlResult =
  | {
      readonly ok: true
      /** Undefined where the text holds no document; an empty document is null. */
      readonly value: Value | undefined
      /** Where text begins that go-yaml leaves unread behind the document; undefined where there is none. */
      readonly unread: number | undefined
    }
  | { readonly ok: false; readonly error: YamlError }

export function readYaml({ text, unreadable }: YamlText): YamlResult {
  try {
    const { root, next } = parseDocument(new Scanner(new Cursor(text, unreadable)))
    return { ok: true, value: root && compose(root), unread: unreadText(text, next) }
  } catch (error) {
    if (error instanceof YamlError) return { ok: false, error }
    throw error
  }
}

function unreadText(text: string, next: Token): number | undefined {
  if (next.kind === 'stream-end') return undefined
  if (next.kind !== 'document-end' && next.kind !== 'document-start') return next.index
  // Behind `...` only blank lines, comments and further markers are nothing.
  const content = /^(?!\s*$|\s*#|\.\.\.\s*$|---\s*$).+$/m.exec(text.slice(next.end))
  return content ? next.end + content.index : undefined
}
