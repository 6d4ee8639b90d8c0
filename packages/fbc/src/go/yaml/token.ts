import type { YamlDirective } from './tag.ts'

export type YamlTokenKind =
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

export interface YamlToken {
  readonly kind: YamlTokenKind
  readonly index: number
  readonly line: number
  readonly end: number
  /** A scalar's text, an anchor's or alias's name, or a tag's suffix. */
  readonly value: string
  readonly plain: boolean
  readonly handle: string
  readonly directive: YamlDirective | undefined
}
