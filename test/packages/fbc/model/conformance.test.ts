// Every recorded verdict of opm is compared with ours, from the files on disk to the message.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ParsedCatalogFile, assembleCatalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import {
  parseCatalogFile,
  createUnreadableCatalogFile,
} from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { validateCatalog } from '../../../../packages/fbc/src/model/validate-catalog.ts'
import { listCatalogDirectoryFiles } from '../../../../src/catalogs/catalog-directory.ts'
import { findSharedPath } from '../../../shared-data.ts'

type RecordedFileContent = string | { base64?: string; symlink?: string; dir?: boolean }

interface OpmValidateRecording {
  readonly id: string
  readonly files: Readonly<Record<string, RecordedFileContent>>
  readonly passed: boolean
  readonly message: string | null
  readonly messages?: readonly string[]
}

/** The Kelvin sign and the dotted capital I: the lowercase in the message differs from Go, but the verdict does not. */
const caseFoldingRecordingIds = new Set(['pull-specs/k-io-x-065', 'pull-specs/i-io-x-067'])

const opmRecordingsPath = findSharedPath('conformance', 'opm-validate.jsonl')

const describeIfRecordingsExist = opmRecordingsPath === undefined ? describe.skip : describe

describeIfRecordingsExist('the recorded verdicts of opm v1.73', () => {
  const records = opmRecordingsPath === undefined ? [] : readOpmRecordings(opmRecordingsPath)
  let root = ''
  const results = new Map<string, { passed: boolean; message: string | undefined }>()

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'conformance-'))
    for (const [at, record] of records.entries()) {
      const dir = join(root, String(at))
      writeRecordedFiles(dir, record.files)
      const { passed, message } = validateCatalogDirectory(dir)
      results.set(record.id, { passed, message: message?.replaceAll(dir, 'DIR') })
    }
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test('are the same as ours', () => {
    const differing = records.filter((record) => results.get(record.id)?.passed !== record.passed)
    expect(differing.map((record) => record.id)).toEqual([])
  })

  test('have the same message, except for the order of siblings', () => {
    const differing = records.filter(({ id, message, messages }) => {
      const wanted = message === null ? (messages ?? []) : [message]
      const ours = normalizeOpmMessage(results.get(id)?.message ?? '')
      return wanted.length > 0 && !wanted.some((one) => normalizeOpmMessage(one) === ours)
    })
    const unexplained = differing.filter(({ id }) => !caseFoldingRecordingIds.has(id))
    expect(unexplained.map((record) => record.id)).toEqual([])
  })
})

function validateCatalogDirectory(dir: string): { passed: boolean; message?: string } {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') return { passed: false, message: directory.message }
  const files = directory.files.map((file): { path: string; facts: ParsedCatalogFile } => {
    const content = file.read()
    return {
      path: file.path,
      facts: 'error' in content ? createUnreadableCatalogFile(content.error) : parseCatalogFile(content),
    }
  })
  return validateCatalog(assembleCatalog(files), { profile: 'opm' })
}

function readOpmRecordings(path: string): OpmValidateRecording[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as OpmValidateRecording)
}

function writeRecordedFiles(dir: string, files: OpmValidateRecording['files']): void {
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

/** Sorts the siblings of an error tree, and leaves other messages unchanged. */
function normalizeOpmMessage(message: string): string {
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
