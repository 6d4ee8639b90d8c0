// The reader of documented commands: what counts as a command, where it is run, and what a page must not mention.
import { describe, expect, test } from '@jest/globals'
import {
  findDocumentedCommands,
  findMissingOutputLine,
  removeFinishedPreparation,
  splitCompositeCommand,
} from '../../scripts/documented-commands.mjs'

const packageScripts = {
  test: 'jest',
  lint: 'oxlint',
  types: 'tsc',
  check: 'npm run lint && npm run types && npm test',
  timed: 'node scripts/run-steps.mjs lint+types test',
}
const parseCommandsOnPage = (text: string) => findDocumentedCommands('PAGE.md', text, packageScripts)
const listCommandsOnPage = (text: string) => parseCommandsOnPage(text).commands.map(({ command }) => command)

describe('commands of a page', () => {
  test('are the lines of its shell blocks, without comments', () => {
    const page =
      '# T\n\n```sh\nnpm ci && npm test   # the tests\n\n# only said\nnpm start\n```\n\n```yaml\na: b\n```\n'
    expect(parseCommandsOnPage(page).commands.map(({ command, line }) => [line, command])).toEqual([
      [4, 'npm ci && npm test'],
      [7, 'npm start'],
    ])
  })

  test('continue over lines that end with a backslash', () => {
    expect(listCommandsOnPage('```sh\nnpm run x \\\n  --y\nnpm start\n```\n')).toEqual([
      'npm run x \\\n  --y',
      'npm start',
    ])
  })

  test('run in the checkout unless a comment changes it for the next block only', () => {
    const page = '<!-- ci: in a catalog repository -->\n\n```sh\nnpx a\n```\n\n```sh\nnpm b\n```\n'
    expect(parseCommandsOnPage(page).commands.map(({ place }) => place)).toEqual(['catalog', 'checkout'])
  })

  test('that do not end declare the output to wait for', () => {
    const page = '<!-- ci: until "listens" -->\n\n```sh\nnpm start\n```\n'
    expect(parseCommandsOnPage(page).commands).toMatchObject([{ until: 'listens' }])
  })

  test('are skipped only for a reason', () => {
    expect(
      parseCommandsOnPage('<!-- ci: not run, needs a cluster -->\n```sh\nhelm install\n```\n').commands,
    ).toMatchObject([{ notRun: 'needs a cluster' }])
    expect(parseCommandsOnPage('<!-- ci: not run -->\n```sh\nhelm install\n```\n').problems).toEqual([
      'PAGE.md:1: unknown "ci:" comment "not run"',
    ])
  })
})

describe('the output on a page', () => {
  test('belongs to the command before it', () => {
    const page = '```sh\nnpm a\nnpm b\n```\n\n<!-- ci: prints -->\n\n```text\none\n…\n```\n'
    expect(parseCommandsOnPage(page).commands.map(({ prints }) => prints)).toEqual([undefined, ['one', '…']])
    expect(parseCommandsOnPage('<!-- ci: prints -->\n\n```text\none\n```\n').problems).toHaveLength(1)
  })

  test('is printed line by line, without lines in between unless "…" allows them', () => {
    const output = 'start\n\none\n  two\nthree\n'
    expect(findMissingOutputLine(['one', 'two'], output)).toBeUndefined()
    expect(findMissingOutputLine(['one', '…', 'three'], output)).toBeUndefined()
    expect(findMissingOutputLine(['one', 'three'], output)).toBe('three')
    expect(findMissingOutputLine(['one', '2'], output)).toBe('2')
  })
})

describe('a page', () => {
  test('must not mention a script that does not exist', () => {
    expect(parseCommandsOnPage('Then `npm run lint` and `npm run lnt`.').problems).toEqual([
      'PAGE.md:1: the npm script "lnt" does not exist',
    ])
  })

  test('must not mention running a file with the Node.js of the reader', () => {
    expect(parseCommandsOnPage('Or `node bench/pull.ts DIR`.').problems).toHaveLength(1)
  })

  test('must not have a CI comment without a block', () => {
    expect(parseCommandsOnPage('<!-- ci: in a copy -->\n\nText.\n').problems).toHaveLength(1)
  })
})

test('a script that only runs other scripts is run when they are', () => {
  const parts = ['npm run lint', 'npm run types', 'npm test']
  expect(splitCompositeCommand('npm run check', packageScripts)).toEqual(parts)
  expect(splitCompositeCommand('npm run timed', packageScripts)).toEqual(parts)
  expect(splitCompositeCommand('npm run lint', packageScripts)).toEqual(['npm run lint'])
  expect(splitCompositeCommand('npm ci && npm test', packageScripts)).toEqual(['npm ci && npm test'])
})

test('packages are installed and built once for all commands that start with that', () => {
  const command = 'npm ci && npm run build:author && ls'
  const finished = new Set(['checkout npm ci', 'checkout npm run build:author'])
  expect(removeFinishedPreparation({ command, place: 'checkout' }, new Set())).toBe(command)
  expect(removeFinishedPreparation({ command, place: 'checkout' }, finished)).toBe('ls')
  expect(removeFinishedPreparation({ command, place: 'copy' }, finished)).toBe('npm run build:author && ls')
})
