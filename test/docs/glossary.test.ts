// docs/glossary.md cannot drift: each term is tied to something that a file exports, and is a word that the code uses.
import { describe, expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
const items = page.split('\n').filter((line) => line.startsWith('- '))
const shape = /^- \*\*(?<term>[a-z ]+)\*\*: (?<words>.+) \[(?<name>\w+)\]\((?<file>\.\.\/src\/[^)]+\.ts)\)$/
const terms = items.map((line) => {
  const { term = '', words = '', name = '', file = '' } = shape.exec(line)?.groups ?? {}
  return { line, term, words, name, file }
})

/** All that the sources say, without the words' endings mattering. */
function sources(): string {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(root, 'src', path), 'utf8'))
    .join('\n')
}

describe('the glossary', () => {
  test('has one line for each term: the term, one sentence, and what it is in the code', () => {
    expect(items.length).toBeGreaterThan(50)
    expect(terms.filter(({ name }) => name === '').map(({ line }) => line)).toEqual([])
    // A sentence that ends before its end is two.
    expect(terms.filter(({ words }) => !/^[^.]+(?:\.\w+`[^.]*)?\.$/.test(words))).toEqual([])
  })

  test('explains each term once', () => {
    const names = terms.map(({ term }) => term)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  test('names only what its file exports', () => {
    const loose = terms.filter(({ name, file }) => {
      const path = normalize(join(root, 'docs', file))
      const exported = new RegExp(
        `^export (?:async )?(?:type|interface|class|const|function\\*?) ${name}\\b`,
        'm',
      )
      return !existsSync(path) || !exported.test(readFileSync(path, 'utf8'))
    })
    expect(loose.map(({ line }) => line)).toEqual([])
  })

  test('has no word that nobody uses', () => {
    const text = sources()
    const unused = terms.filter(({ term }) => {
      // `related image` may be `relatedImage` or `related images` in the code.
      const word = new RegExp(`\\b${term.replaceAll(' ', '[ -]?')}`, 'i')
      return !word.test(text)
    })
    expect(unused.map(({ term }) => term)).toEqual([])
  })
})
