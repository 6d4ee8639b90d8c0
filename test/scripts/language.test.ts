import { expect, test } from '@jest/globals'
import { checkWording } from '../../scripts/lint-wording.ts'

const findWordingProblems = (file: string, text: string) =>
  checkWording(file, text).map((it) => [it.line, it.what, it.text])

test('finds private terms in names, comments, and messages, with their lines', () => {
  const source = [
    '// It is asked anew.',
    'const mostPages = 3',
    'function whatStops(toldPulls: string[]) {',
    '  return toldPulls.map((it) => `${it}: nobody approved`)',
    '}',
  ].join('\n')
  expect(findWordingProblems('src/a.ts', source)).toEqual([
    [1, 'comment', 'anew'],
    [2, 'name', 'mostPages'],
    [3, 'name', 'whatStops'],
    [3, 'name', 'toldPulls'],
    [4, 'string', 'nobody'],
  ])
})

test('accepts plain sentences, code, and the words of commands', () => {
  const source =
    "// Retries, because the registry did not respond.\nconst maxPages = 3\nfail('Push a fix.')\n"
  expect(findWordingProblems('src/a.ts', source)).toEqual([])
  expect(
    findWordingProblems('docs/a.md', 'Run `catalog-bot landings`.\n\n```sh\n# by itself\n```\n'),
  ).toEqual([])
  expect(findWordingProblems('docs/a.md', 'Fine.\nIt merges by itself.\n')).toEqual([
    [2, 'document', 'by itself'],
  ])
})
