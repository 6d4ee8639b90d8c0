import { expect, test } from '@jest/globals'
import { findDocumentSpans } from '../../../../packages/fbc/src/positions/positioned-tree.ts'
import { splitDocuments } from '../../../../packages/fbc/src/load/split-documents.ts'

const extractDocumentTexts = (text: string, of: typeof findDocumentSpans) =>
  [...of(new TextEncoder().encode(text))].map(({ start, end }) => text.slice(start, end).trimEnd())

test.each([
  ['one document', 'schema: a\nb: |\n  c\n'],
  ['several documents', 'schema: a\n---\nschema: b\n--- # why\nschema: c\n'],
  ['a separator first', '---\nschema: a\n---\nschema: b\n'],
  ['JSON objects', '{"schema":"a"} {"schema":"b","c":[{"d":"}]\\\\\\""}]}\n\n{"schema":"c"}\n'],
  ['a YAML flow mapping', '{schema: a, b: [c]}\n'],
  ['a string with a brace', 'schema: a\nb: "{"\n---\nschema: b\n'],
  ['an empty file', ''],
])('a file is split into the same documents as by the loader: %s', (_description, text) => {
  expect(extractDocumentTexts(text, findDocumentSpans)).toEqual(extractDocumentTexts(text, splitDocuments))
})

test.each(['{', '{"a', '{"a\\', '{]', '}', '[', '{}}', '{} x: {', '--- x\n---'])(
  'a file that cannot be read has spans that are within it and do not overlap: %j',
  (text) => {
    let behind = 0
    for (const { start, end } of findDocumentSpans(new TextEncoder().encode(text))) {
      expect(start).toBeGreaterThanOrEqual(behind)
      expect(end).toBeGreaterThanOrEqual(start)
      behind = end
    }
    expect(behind).toBeLessThanOrEqual(text.length)
  },
)
