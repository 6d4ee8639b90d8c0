import { expect, test } from '@jest/globals'
import { parseBlobFields } from '../../../../packages/fbc/src/load/blob-types.ts'

const parseBlobFieldsFromText = (text: string) => parseBlobFields(new TextEncoder().encode(text))

test('equivalent blobs in YAML and JSON have the same fields', () => {
  const yaml = parseBlobFieldsFromText('schema: x\nb: {d: 1.0, c: [y, "2"]}\nlist:\n- 1\n- {z: 2, a: 1}\n')
  const json = parseBlobFieldsFromText('{"list":[1,{"a":1,"z":2}],"b":{"c":[true,"2"],"d":1},"schema":"x"}')
  expect(yaml).toEqual(json)
})

test('an edit at the end of a value of twenty megabytes changes the fields', () => {
  const text = (last: string) => `schema: x\na:\n  b: [${`"${'x'.repeat(9_999)}",`.repeat(2000)}"${last}"]\n`
  const old = parseBlobFieldsFromText(text('old'))
  expect(old).toBeDefined()
  expect(old).not.toEqual(parseBlobFieldsFromText(text('new')))
})

test('a blob with fields that are too long to be compared has none', () => {
  const text = `schema: x\na: &a [${`"${'x'.repeat(9_999)}",`.repeat(300)}1]\nb: [${Array(20).fill('*a').join()}]\n`
  expect(parseBlobFieldsFromText(text)).toBeUndefined()
})
