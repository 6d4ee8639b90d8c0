import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import typescript from 'typescript'
import { findLayerViolations, pureLayers } from '../../scripts/layers.ts'
import { writeFiles } from '../write-files.ts'

const projectRoot = join(import.meta.dirname, '..', '..')

describe('the guard of the layers', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'layers-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const write = (file: string, text: string) => writeFiles(join(root, 'src'), { [file]: text })
  const listViolations = () =>
    findLayerViolations(root).map((violation) => `${violation.file}: ${violation.text}`)

  const writePackage = (name: string, text: object) =>
    write(`../packages/${name}/package.json`, JSON.stringify({ name: `@catalog-bot/${name}`, ...text }))

  test('lets a layer import layers above it and itself', () => {
    write(
      'policy/decide.ts',
      "import { mint } from './merge-permit.ts'\nimport type { Config } from '../config/config.ts'\n",
    )
    write('cli.ts', "import { x } from './adapters/git/mirror.ts'\n")
    expect(listViolations()).toEqual([])
  })

  test('rejects an import that goes down', () => {
    write('checks/read.ts', "import type { Registry } from '../ports/registry.ts'\n")
    expect(listViolations()).toEqual([
      'src/checks/read.ts: layer src/checks imports layer src/ports, which is below it',
    ])
  })

  test('finds imports that span lines, re-exports, and dynamic imports', () => {
    write('checks/a.ts', "import {\n  b,\n  c,\n} from '../adapters/git/mirror.ts'\n")
    write('checks/b.ts', "export * from '../adapters/store/store.ts'\n")
    write('checks/c.ts', "const late = () => import('../web/page.ts')\n")
    expect(listViolations()).toHaveLength(3)
  })

  test('rejects the platform in a pure layer', () => {
    write('policy/decide.ts', "import { readFileSync } from 'node:fs'\n")
    expect(listViolations()).toEqual(['src/policy/decide.ts: a pure layer imports node:fs'])
  })

  test('rejects an adapter that calls another adapter, also through a module that adapters share', () => {
    write('adapters/git/mirror.ts', "import { x } from '../github/octokit.ts'\n")
    write('adapters/clock.ts', "import { x } from './git/mirror.ts'\n")
    write(
      'adapters/image/push.ts',
      "import { x } from '../registry/client.ts'\nimport { y } from '../clock.ts'\n",
    )
    expect(listViolations()).toEqual([
      'src/adapters/clock.ts: a module that adapters share imports adapter git',
      'src/adapters/git/mirror.ts: adapter git imports adapter github; adapters must be independent of each other',
    ])
  })

  test('rejects a capability that imports another one, except merge and cluster-test', () => {
    write('release/a.ts', "import { x } from '../evaluate/evaluate.ts'\n")
    write('merge/a.ts', "import { x } from '../evaluate/evaluate.ts'\n")
    write('cluster-test/a.ts', "import { x } from '../publish/state.ts'\n")
    write('publish/a.ts', "import type { X } from '../merge/merge.ts'\n")
    expect(listViolations()).toEqual([
      'src/publish/a.ts: capability src/publish imports capability src/merge; capabilities enqueue jobs for each other',
      'src/release/a.ts: capability src/release imports capability src/evaluate; capabilities enqueue jobs for each other',
    ])
  })

  test('lets only the job context import types of the layers below', () => {
    write('jobs/job-context.ts', "import type { Pool } from '../evaluate/pool.ts'\n")
    write('jobs/lease.ts', "import type { Pool } from '../evaluate/pool.ts'\n")
    expect(listViolations()).toEqual([
      'src/jobs/lease.ts: layer src/jobs imports layer src/evaluate, which is below it',
    ])
  })

  test('rejects a package import that is not declared, not exported, or relative, and a package that imports the bot', () => {
    writePackage('fbc', { exports: { './facts': './src/facts.ts' } })
    writePackage('bundle', { dependencies: { '@catalog-bot/fbc': '1' } })
    write('../packages/fbc/src/facts.ts', "import { x } from '@catalog-bot/bundle/csv'\n")
    write(
      '../packages/bundle/src/a.ts',
      "import { x } from '@catalog-bot/fbc/facts'\nimport y from 'semver'\n",
    )
    write('../packages/bundle/src/b.ts', "import { x } from '../../../src/config/config.ts'\n")
    write('checks/a.ts', "import { x } from '@catalog-bot/fbc/internal'\n")
    write('checks/b.ts', "import { x } from '../../packages/fbc/src/facts.ts'\n")
    expect(listViolations()).toEqual([
      'packages/bundle/src/a.ts: this file imports semver, which packages/bundle/package.json does not declare',
      'packages/bundle/src/b.ts: layer packages/bundle imports layer src/config, which is below it',
      'packages/fbc/src/facts.ts: this file imports @catalog-bot/bundle, which packages/fbc/package.json does not declare',
      'src/checks/a.ts: this file imports @catalog-bot/fbc/internal, which @catalog-bot/fbc does not export',
      'src/checks/b.ts: this file imports ../../packages/fbc/src/facts.ts; import the package by its name',
    ])
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
    for (const [at, call] of calls.entries()) write(`server/a${at}.ts`, `${call}\n`)
    expect(listViolations()).toHaveLength(calls.length)
    rmSync(join(root, 'src'), { recursive: true })
    for (const call of calls.slice(0, 6)) write('adapters/github/merge-api.ts', `${call}\n`)
    write('adapters/git/push-merge.ts', `${calls[6]}\n`)
    write('adapters/github/bot-pulls.ts', `${calls[7]}\n`)
    write('server/b.ts', "// pulls.merge is not called here\nconst kind = 'push'\n")
    expect(listViolations()).toEqual([])
  })

  test('lets only the policy mint a permit', () => {
    write('server/land.ts', "import { mint } from '../policy/merge-permit.ts'\n")
    expect(listViolations()).toEqual(['src/server/land.ts: only policy/decide.ts can mint a merge permit'])
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
      'src/cli.ts: this file imports ../sandbox/demo.ts, which is outside src',
      'src/web/page.ts: this file imports ../../test/sample-world.ts, which is outside src',
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
      'src/web/page.ts: this file imports ajv, which is not a dependency of the published package',
      'sandbox/validator.ts: this file imports ajv, which is not a dependency of the published package',
    ])
  })

  test('rejects import cycles, including types and across folders', () => {
    write('web/a.ts', "import type { B } from './deep/b.ts'\n")
    write('web/deep/b.ts', "export { c } from '../c.ts'\n")
    write('web/c.ts', "const late = () => import('./a.ts')\n")
    write('web/d.ts', "import { a } from './a.ts'\n")
    expect(listViolations()).toEqual(['src/web/a.ts: imports itself through src/web/c.ts, src/web/deep/b.ts'])
    write('web/c.ts', '')
    expect(listViolations()).toEqual([])
  })

  test('passes on the project itself', () => {
    expect(findLayerViolations(projectRoot)).toEqual([])
  })
})

describe('the pure layers', () => {
  const expected = pureLayers.map((layer) => (layer.startsWith('packages/') ? `${layer}/src` : layer)).sort()

  test('are compiled without the types of Node.js', () => {
    const { config } = typescript.parseConfigFileTextToJson(
      '',
      readFileSync(join(projectRoot, 'tsconfig.pure.json'), 'utf8'),
    ) as { config: { include: string[] } }
    const folders = config.include.filter((path) => !path.endsWith('.ts'))
    expect(folders.sort()).toEqual(expected)
  })

  test('have lint rules against clocks, randomness, and waiting', () => {
    const { overrides } = JSON.parse(readFileSync(join(projectRoot, '.oxlintrc.json'), 'utf8')) as {
      overrides: { files: string[]; rules: Record<string, unknown> }[]
    }
    const pureOnes = overrides.find(({ rules }) => 'oxc/no-async-await' in rules)?.files ?? []
    expect(pureOnes.map((glob) => glob.replace(/\/\*\*$/, '')).sort()).toEqual(expected)
  })
})
