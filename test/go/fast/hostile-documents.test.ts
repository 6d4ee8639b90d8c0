import { describe, expect, test } from '@jest/globals'
import { readFile } from '../../../src/catalog/load/read-file.ts'

const encoder = new TextEncoder()
const head = '---\nname: foo\nschema: olm.package\ndescription: '

/** Ten million bytes of each, which must cost what ten million bytes of catalog cost. */
const size = 10_000_000

describe('a document made to hurt the fast reader', () => {
  test.each([
    ['a plain scalar', `${head}${'a'.repeat(size)}\n`],
    ['a plain scalar of many lines', `${head}a\n${'  b\n'.repeat(size / 4)}`],
    ['a plain scalar of words', `${head}${'a '.repeat(size / 2)}a\n`],
    ['a double-quoted scalar of escapes', `${head}"${'\\n'.repeat(size / 2)}"\n`],
    ['a double-quoted scalar of lines', `${head}"${'a\n  '.repeat(size / 4)}"\n`],
    ['a double-quoted scalar of blanks', `${head}"${' '.repeat(size)}"\n`],
    ['a single-quoted scalar of quotes', `${head}'${"''".repeat(size / 2)}'\n`],
    ['a literal scalar of blanks', `${head}|\n  a\n${'    \n'.repeat(size / 5)}`],
    ['a literal scalar of lines', `${head}|\n${'  a\n'.repeat(size / 4)}`],
    ['separators', '---\na: b\n'.repeat(size / 80)],
    ['documents that are handed over', '---\na: &x b\n'.repeat(size / 200)],
    ['comments', `${head}a\n${'# a\n'.repeat(size / 4)}`],
    [
      'manifests of nothing but brackets',
      `---\nschema: olm.bundle\nproperties:\n- type: olm.bundle.object\n  value:\n    data: ${btoa(`{"a":${'['.repeat(size / 2)}`)}\n`,
    ],
  ])('is read in the time that its length takes: %s', (_name, text) => {
    const bytes = encoder.encode(text)
    const seconds = (exact: boolean): number => {
      const started = process.threadCpuUsage()
      const facts = readFile(bytes, { exact })
      const { user } = process.threadCpuUsage(started)
      expect(facts.bytes).toBe(bytes.length)
      return user / 1e6
    }
    // Quadratic behaviour takes hours; a slow machine takes a few seconds.
    expect(seconds(false)).toBeLessThan(30)
    expect(seconds(true)).toBeLessThan(30)
  })
})
