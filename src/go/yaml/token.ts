import type { Directive } from './tag.ts'

export type TokenKind =
  | 'stream-end'
  | 'directive'
  | 'document-start'
  | 'document-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'block-entry'
  | 'flow-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface Token {
  readonly kind: TokenKind
  readonly index: number
  readonly line: number
  readonly end: number
  /** A scalar's text, an anchor's or alias's name, or a tag's suffix. */
  readonly value: string
  readonly plain: boolean
  readonly handle: string
  readonly directive: Directive | undefined
}
