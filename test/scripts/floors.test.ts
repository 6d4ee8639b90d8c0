import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { findViolations } from '../../scripts/floors.ts'

describe('the guard of the floors', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'floors-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const write = (file: string, text: string) => {
    const path = join(root, 'src', file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const says = () => findViolations(root).map((violation) => `${violation.file}: ${violation.says}`)

  test('lets a floor import floors above it and itself', () => {
    write(
      'gate/decide.ts',
      "import { mint } from './merge-permit.ts'\nimport type { Finding } from '../findings/finding.ts'\n",
    )
    write('cli.ts', "import { x } from './git/mirror.ts'\n")
    expect(says()).toEqual([])
  })

  test('refuses an import that goes down', () => {
    write('catalog/read.ts', "import type { Registry } from '../ports/registry.ts'\n")
    expect(says()).toEqual(['catalog/read.ts: floor catalog imports floor ports, which stands below it'])
  })

  test('sees imports that span lines, re-exports and dynamic imports', () => {
    write('checks/a.ts', "import {\n  b,\n  c,\n} from '../git/mirror.ts'\n")
    write('checks/b.ts', "export * from '../store/store.ts'\n")
    write('checks/c.ts', "const late = () => import('../web/page.ts')\n")
    expect(says()).toHaveLength(3)
  })

  test('refuses the platform in a pure floor', () => {
    write('gate/decide.ts', "import { readFileSync } from 'node:fs'\n")
    expect(says()).toEqual(['gate/decide.ts: a pure floor imports node:fs'])
  })

  test('refuses an adapter that calls another adapter', () => {
    write('git/mirror.ts', "import { x } from '../github/octokit.ts'\n")
    expect(says()[0]).toContain('floor git imports floor github')
    rmSync(join(root, 'src'), { recursive: true })
    write('github/octokit.ts', "import { x } from '../git/mirror.ts'\n")
    expect(says()[0]).toContain('adapters meet only in the app')
  })

  test('lets nobody but the gate mint a permit', () => {
    write('app/land.ts', "import { mint } from '../gate/merge-permit.ts'\n")
    expect(says()).toEqual(['app/land.ts: only gate/decide.ts may mint a merge permit'])
  })

  test('refuses a folder that is no floor, and a floor that imports the entry files', () => {
    write('utils/strings.ts', '')
    write('web/page.ts', "import { run } from '../cli.ts'\n")
    expect(says()).toHaveLength(2)
  })

  test('passes on the project itself', () => {
    expect(findViolations(join(import.meta.dirname, '..', '..'))).toEqual([])
  })
})
