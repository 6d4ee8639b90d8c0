// Each term in docs/reference/glossary.md occurs in another document for users.
import { describe, expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const projectRoot = join(import.meta.dirname, '../..')
const glossaryPage = readFileSync(join(projectRoot, 'docs/reference/glossary.md'), 'utf8')
const glossaryListLines = glossaryPage.split('\n').filter((line) => line.startsWith('- '))
const glossaryEntryPattern = /^- \*\*(?<term>[a-z ]+)\*\*: (?<definition>[A-Z].+)$/
const glossaryTerms = glossaryListLines.map((line) => {
  const { term = '', definition = '' } = glossaryEntryPattern.exec(line)?.groups ?? {}
  return { line, term, definition }
})
const glossaryTermNames = glossaryTerms.map(({ term }) => term)

/** All documents of users, except the glossary. */
function readDocsExceptGlossary(): string {
  return readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && path !== 'reference/glossary.md')
    .map((path) => readFileSync(join(projectRoot, 'docs', path), 'utf8'))
    .join('\n')
}

describe('the glossary', () => {
  test('has one line for each term: the term and one sentence', () => {
    expect(glossaryListLines.length).toBeGreaterThan(30)
    expect(glossaryTerms.filter(({ term }) => term === '').map(({ line }) => line)).toEqual([])
    // A period in the middle means two sentences.
    expect(glossaryTerms.filter(({ definition }) => !/^[^.]+(?:\.\w+`[^.]*)?\.$/.test(definition))).toEqual(
      [],
    )
  })

  test('explains each term once, in alphabetical order', () => {
    expect(glossaryTermNames).toEqual([...new Set(glossaryTermNames)].sort())
  })

  test('has only terms of other documents', () => {
    const text = readDocsExceptGlossary()
    // `related image` may be `related images` or `relatedImages`.
    const unused = glossaryTermNames.filter(
      (term) => !new RegExp(`\\b${term.replaceAll(' ', '[ -]?')}`, 'i').test(text),
    )
    expect(unused).toEqual([])
  })
})
