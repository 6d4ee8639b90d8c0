// opm's recorded verdicts, every one of them, against ours: from the files on disk to the message.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { assemble } from '../../../src/catalog/facts/assemble.ts'
import type { FileFacts } from '../../../src/catalog/facts/catalog.ts'
import { readFile, unreadableFile } from '../../../src/catalog/load/read-file.ts'
import { validateCatalog } from '../../../src/catalog/model/validate-catalog.ts'
import { openCatalogDirectory } from '../../../src/examine/catalogs/catalog-directory.ts'
import { sharedPath } from '../../shared.ts'

type Content = string | { base64?: string; symlink?: string; dir?: boolean }

interface Recorded {
  readonly id: string
  readonly files: Readonly<Record<string, Content>>
  readonly passed: boolean
  readonly message: string | null
  readonly messages?: readonly string[]
}

/** The Kelvin sign and the dotted capital I: Go's lower case differs from ours, the verdict does not. */
const otherLowerCase = new Set(['pull-specs/k-io-x-065', 'pull-specs/i-io-x-067'])

const recordings = sharedPath('conformance', 'opm-validate.jsonl')

const describeIf = recordings === undefined ? describe.skip : describe

describeIf('the recorded verdicts of opm v1.73', () => {
  const records = recordings === undefined ? [] : readRecords(recordings)
  let root = ''
  const results = new Map<string, { passed: boolean; message: string | undefined }>()

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'conformance-'))
    for (const [at, record] of records.entries()) {
      const dir = join(root, String(at))
      write(dir, record.files)
      const { passed, message } = verdictOn(dir)
      results.set(record.id, { passed, message: message?.replaceAll(dir, 'DIR') })
    }
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test('are ours, on every record', () => {
    const differing = records.filter((record) => results.get(record.id)?.passed !== record.passed)
    expect(differing.map((record) => record.id)).toEqual([])
  })

  test('come with the same text, siblings in any order', () => {
    const differing = records.filter(({ id, message, messages }) => {
      const wanted = message === null ? (messages ?? []) : [message]
      const ours = normalised(results.get(id)?.message ?? '')
      return wanted.length > 0 && !wanted.some((one) => normalised(one) === ours)
    })
    const unexplained = differing.filter(({ id }) => !otherLowerCase.has(id))
    expect(unexplained.map((record) => record.id)).toEqual([])
  })
})

function verdictOn(dir: string): { passed: boolean; message?: string } {
  const directory = openCatalogDirectory(dir)
  if (directory.kind !== 'files') return { passed: false, message: directory.message }
  const files = directory.files.map((file): { path: string; facts: FileFacts } => {
    const content = file.read()
    return { path: file.path, facts: 'error' in content ? unreadableFile(content.error) : readFile(content) }
  })
  return validateCatalog(assemble(files), { profile: 'opm' })
}

function readRecords(path: string): Recorded[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded)
}

function write(dir: string, files: Recorded['files']): void {
  mkdirSync(dir)
  for (const [path, content] of Object.entries(files)) {
    const full = join(dir, path)
    mkdirSync(dirname(full), { recursive: true })
    if (typeof content === 'string') writeFileSync(full, content)
    else if (content.symlink !== undefined) symlinkSync(content.symlink, full)
    else if (content.dir) mkdirSync(full, { recursive: true })
    else writeFileSync(full, Buffer.from(content.base64 ?? '', 'base64'))
  }
}

/** A tree of errors with its siblings sorted; other texts as they are. */
function normalised(message: string): string {
  if (!message.startsWith('invalid index')) return message
  interface Node {
    readonly text: string
    readonly children: Node[]
  }
  const top: Node = { text: '', children: [] }
  const stack: { depth: number; node: Node }[] = [{ depth: -1, node: top }]
  for (const line of message.split('\n')) {
    const match = /^((?:│ {3}| {4})*)(├── |└── )?(.*)$/su.exec(line)
    const [, indent = '', branch, text = ''] = match ?? []
    const depth = indent.length / 4 + (branch === undefined ? 0 : 1)
    const node: Node = { text: text.replace(/:$/, ''), children: [] }
    while ((stack.at(-1)?.depth ?? -1) >= depth) stack.pop()
    stack.at(-1)?.node.children.push(node)
    stack.push({ depth, node })
  }
  const print = (node: Node): string => `${node.text}(${node.children.map(print).sort().join()})`
  return print(top)
}
