import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import typescript from 'typescript'
import { findLayerViolations, pureLayers } from '../../scripts/layers.ts'

const projectRoot = join(import.meta.dirname, '..', '..')

describe('the layer check', () => {
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
  const listViolations = () =>
    findLayerViolations(root).map((violation) => `${violation.file}: ${violation.says}`)

  test('lets a layer import itself and the layers above it', () => {
    write(
      'gate/decide.ts',
      "import { mint } from './merge-permit.ts'\nimport type { Finding } from '../findings/finding.ts'\n",
    )
    write('cli.ts', "import { x } from './git/mirror.ts'\n")
    expect(listViolations()).toEqual([])
  })

  test('rejects an import of a lower layer', () => {
    write('catalog/read.ts', "import type { Registry } from '../ports/registry.ts'\n")
    expect(listViolations()).toEqual([
      'src/catalog/read.ts: layer catalog imports layer ports, which is below it',
    ])
  })

  test('finds imports that span lines, re-exports, and dynamic imports', () => {
    write('checks/a.ts', "import {\n  b,\n  c,\n} from '../git/mirror.ts'\n")
    write('checks/b.ts', "export * from '../store/store.ts'\n")
    write('checks/c.ts', "const late = () => import('../web/page.ts')\n")
    expect(listViolations()).toHaveLength(3)
  })

  test('rejects platform modules in a pure layer', () => {
    write('gate/decide.ts', "import { readFileSync } from 'node:fs'\n")
    expect(listViolations()).toEqual(['src/gate/decide.ts: a pure layer imports node:fs'])
  })

  test('rejects an adapter that imports another adapter', () => {
    write('git/mirror.ts', "import { x } from '../github/octokit.ts'\n")
    expect(listViolations()[0]).toContain('layer git imports layer github')
    rmSync(join(root, 'src'), { recursive: true })
    write('github/octokit.ts', "import { x } from '../git/mirror.ts'\n")
    expect(listViolations()[0]).toContain('adapters must be independent of each other')
  })

  test('allows calls that move a branch only in their designated files', () => {
    const calls = [
      'await octokit.rest.pulls.merge({ sha })',
      'await octokit.rest.repos.merge({ base, head })',
      'await octokit.rest.git.updateRef({ sha })',
      "octokit.graphql('mutation { enqueuePullRequest(input: $input) { clientMutationId } }')",
      "octokit.graphql('mutation { mergePullRequest(input: $input) { clientMutationId } }')",
      "octokit.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge')",
      "runGit({ args: ['push', url] })",
      'await octokit.rest.git.createCommit({ tree })',
    ]
    for (const [at, call] of calls.entries()) write(`app/a${at}.ts`, `${call}\n`)
    expect(listViolations()).toHaveLength(calls.length)
    rmSync(join(root, 'src'), { recursive: true })
    for (const call of calls.slice(0, 6)) write('github/merge-api.ts', `${call}\n`)
    write('git/push-merge.ts', `${calls[6]}\n`)
    write('github/propose-tree.ts', `${calls[7]}\n`)
    write('app/b.ts', "// pulls.merge is not called here\nconst kind = 'push'\n")
    expect(listViolations()).toEqual([])
  })

  test('lets only the gate mint a permit', () => {
    write('app/land.ts', "import { mint } from '../gate/merge-permit.ts'\n")
    expect(listViolations()).toEqual(['src/app/land.ts: only gate/decide.ts can mint a merge permit'])
  })

  test('rejects a folder that is not a layer, and a layer that imports the entry files', () => {
    write('utils/strings.ts', '')
    write('web/page.ts', "import { run } from '../cli.ts'\n")
    expect(listViolations()).toHaveLength(2)
  })

  test('rejects an import from outside src, even in the entry files', () => {
    write('cli.ts', "const late = () => import('../sandbox/demo.ts')\n")
    write('web/page.ts', "import { furnish } from '../../test/sample-world.ts'\n")
    expect(listViolations()).toEqual([
      'src/cli.ts: imports ../sandbox/demo.ts, which is outside src',
      'src/web/page.ts: imports ../../test/sample-world.ts, which is outside src',
    ])
  })

  test('rejects a dev dependency in published code, including the sandbox', () => {
    write(
      '../package.json',
      '{ "dependencies": { "@a/b": "1", "c": "1" }, "devDependencies": { "ajv": "1" } }',
    )
    write('web/page.ts', "import { x } from '@a/b/deep'\nimport y from 'c'\nimport { z } from 'node:fs'\n")
    expect(listViolations()).toEqual([])
    write('web/page.ts', "import type { Ajv } from 'ajv'\n")
    write('../sandbox/validator.ts', "import { Ajv } from 'ajv/dist/2020.js'\n")
    expect(listViolations()).toEqual([
      'src/web/page.ts: imports ajv, which is not a dependency of the published package',
      'sandbox/validator.ts: imports ajv, which is not a dependency of the published package',
    ])
  })

  test('rejects import cycles, including types and across folders', () => {
    write('git/a.ts', "import type { B } from './deep/b.ts'\n")
    write('git/deep/b.ts', "export { c } from '../c.ts'\n")
    write('git/c.ts', "const late = () => import('./a.ts')\n")
    write('git/d.ts', "import { a } from './a.ts'\n")
    expect(listViolations()).toEqual(['src/git/a.ts: imports itself through src/git/c.ts, src/git/deep/b.ts'])
    write('git/c.ts', '')
    expect(listViolations()).toEqual([])
  })

  test('passes on the project itself', () => {
    expect(findLayerViolations(projectRoot)).toEqual([])
  })
})

describe('the pure layers', () => {
  const isThere = (floor: string) => existsSync(join(projectRoot, 'src', floor))
  const expected = pureLayers.filter(isThere).sort()

  test('are compiled without the types of Node.js', () => {
    const { config } = typescript.parseConfigFileTextToJson(
      '',
      readFileSync(join(projectRoot, 'tsconfig.pure.json'), 'utf8'),
    ) as {
      config: { include: string[] }
    }
    const folders = config.include.filter((path) => !path.endsWith('.ts'))
    expect(folders.map((path) => path.replace('src/', '')).sort()).toEqual(expected)
  })

  test('have lint rules against clocks, randomness, and waiting', () => {
    const { overrides } = JSON.parse(readFileSync(join(projectRoot, '.oxlintrc.json'), 'utf8')) as {
      overrides: { files: string[]; rules: Record<string, unknown> }[]
    }
    const pureOnes = overrides.find(({ rules }) => 'oxc/no-async-await' in rules)?.files ?? []
    expect(pureOnes.map((glob) => /^src\/(\w+)\/\*\*$/.exec(glob)?.[1]).sort()).toEqual(expected)
  })
})
