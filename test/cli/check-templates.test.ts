// A pull request that changes a template but not its catalog: catalog-bot reports it, the suggested command fixes it,
// and the next check passes. Uses a real repository, a mock registry, and the real command line.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, jest, test } from '@jest/globals'
import { bundleAnnotationKeys } from '../../packages/bundle/src/bundle-metadata.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'
import { startMockRegistry } from '../../sandbox/registry/registry.ts'
import { createBundleFiles } from '../packages/bundle/sample-bundles.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

jest.setTimeout(300_000)

const repositoryDirectory = createSelfRemovingDirectory('templates')
const bundleImageByVersion = new Map<string, string>()
const templatePath = 'operators/lantern/catalog-templates/v4.20.yaml'
const catalogPath = 'catalogs/v4.20/lantern/catalog.yaml'

const runGit = (...parameters: string[]) =>
  execFileSync(
    'git',
    ['-C', repositoryDirectory, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...parameters],
    { env: { PATH: process.env.PATH, HOME: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }, encoding: 'utf8' },
  ).trim()
function commitFiles(files: Readonly<Record<string, string>>): string {
  writeFiles(repositoryDirectory, files)
  runGit('add', '-A')
  runGit('commit', '-q', '--allow-empty', '-m', 'x')
  return runGit('rev-parse', 'HEAD')
}
/** Runs the command from the finding as a user would in a shell, and commits the output. */
async function runShellCommand(command: string): Promise<string> {
  const [, source = '', format = '', file = ''] =
    /catalog-bot render (\S+) -o (\S+) > (\S+)/.exec(command) ?? []
  const { out, err } = await runCatalogBot(
    'render',
    join(repositoryDirectory, source),
    '-o',
    format,
    '--insecure-registry',
    mockRegistry.host,
  )
  expect(err).toBe('')
  return commitFiles({ [file]: out })
}
const createBasicTemplate = (...versions: string[]) =>
  `schema: olm.template.basic
entries:
- {schema: olm.package, name: lantern, defaultChannel: stable}
- schema: olm.channel
  package: lantern
  name: stable
  entries: [${versions.map((version, at) => `{name: lantern.v${version}${at > 0 ? `, replaces: lantern.v${versions[at - 1]}` : ''}}`).join(', ')}]
${versions.map((version) => `- {schema: olm.bundle, image: "${bundleImageByVersion.get(version)}"}\n`).join('')}`

/** The arguments for a pull request by an administrator. */
const listPullArguments = (base: string, head: string) => [
  ...['--repo', repositoryDirectory, '--base', base, '--head', head],
  ...['--author', 'olga', '--role', 'admin'],
]
async function runCheckCommand(base: string, head: string, ...more: string[]) {
  const { out } = await runCatalogBot(
    'check',
    ...listPullArguments(base, head),
    ...['-o', 'json', '--insecure-registry', mockRegistry.host, ...more],
  )
  const { verdict, reasons, findings } = JSON.parse(out) as {
    verdict: string
    reasons: { text: string }[]
    findings: Finding[]
  }
  return { verdict, reasons, drift: findings.filter(({ rule }) => /template/.test(rule)) }
}

const mockRegistry = await startMockRegistry()
for (const version of ['1.0.0', '1.1.0']) {
  const installModes = [{ type: 'AllNamespaces', supported: true }]
  const files = createBundleFiles('lantern', {
    metadata: { name: `lantern.v${version}` },
    spec: { version, installModes, install: { strategy: 'deployment', spec: { deployments: [] } } },
  })
  const { reference } = mockRegistry.putImage('lantern/bundle', undefined, {
    labels: { [bundleAnnotationKeys.package]: 'lantern' },
    files: Object.fromEntries([...files].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])),
  })
  bundleImageByVersion.set(version, reference)
}
runGit('init', '-q')
afterAll(() => mockRegistry.stop())

describe('a pull request that changes only the template', () => {
  test('gets a finding with the differences, and passes after the suggested command ran', async () => {
    commitFiles({ [templatePath]: createBasicTemplate('1.0.0') })
    const base = await runShellCommand(`catalog-bot render ${templatePath} -o yaml > ${catalogPath}`)

    const staleCommit = commitFiles({ [templatePath]: createBasicTemplate('1.0.0', '1.1.0') })
    const { drift } = await runCheckCommand(base, staleCommit)
    expect(drift).toMatchObject([
      {
        rule: 'catalog-differs-from-template',
        severity: 'warning',
        at: { file: catalogPath },
        related: [{ at: { file: templatePath } }],
      },
    ])
    expect(drift[0]?.what).toContain('entry lantern.v1.1.0 of channel stable is missing')
    expect(drift[0]?.what).toContain('bundle lantern.v1.1.0 is missing')

    const fixOutput = await runShellCommand(drift[0]?.fix ?? '')
    expect(await runCheckCommand(base, fixOutput)).toMatchObject({ drift: [], verdict: 'merge' })
  })

  test('waits for the registry if it adds a bundle, and needs no registry if it adds none', async () => {
    commitFiles({ [templatePath]: createBasicTemplate('1.0.0') })
    const base = await runShellCommand(`catalog-bot render ${templatePath} -o yaml > ${catalogPath}`)
    const added = commitFiles({ [templatePath]: createBasicTemplate('1.0.0', '1.1.0') })
    const open = await runCheckCommand(base, added, '--offline')
    expect(open).toMatchObject({ verdict: 'unknown', drift: [] })
    expect(open.reasons[0]?.text).toContain(bundleImageByVersion.get('1.1.0'))

    runGit('checkout', '-q', base)
    const edited = commitFiles({
      [templatePath]: createBasicTemplate('1.0.0').replace('defaultChannel: stable', 'defaultChannel: x'),
    })
    const settled = await runCheckCommand(base, edited, '--offline')
    expect(settled.drift[0]?.what).toContain('package lantern differs (default channel)')
  })

  test('is blocked if the base configuration declares the pair, even if its own does not', async () => {
    const stated = {
      '.github/catalog-bot.yml': `templates: [{template: "t/{name}.yaml", catalog: "catalogs/v4.20/{name}"}]\n`,
    }
    runGit('rm', '-q', '-r', 'operators')
    commitFiles({ ...stated, 't/lantern.yaml': createBasicTemplate('1.0.0') })
    const base = await runShellCommand(`catalog-bot render t/lantern.yaml -o yaml > ${catalogPath}`)
    const head = commitFiles({
      't/lantern.yaml': createBasicTemplate('1.0.0', '1.1.0'),
      '.github/catalog-bot.yml': '{}\n',
    })
    const { verdict, drift } = await runCheckCommand(base, head)
    expect(drift).toMatchObject([{ severity: 'error' }])
    expect(verdict).toBe('blocked')
    runGit('rm', '-q', 't/lantern.yaml')
    const removedCheck = await runCheckCommand(base, commitFiles({}))
    expect(removedCheck.drift).toMatchObject([{ rule: 'unrenderable-template', severity: 'error' }])
  })

  test('gets a patch if the configuration enables it, and matches after git applies the patch', async () => {
    runGit('checkout', '-q', '--orphan', 'patched')
    runGit('rm', '-r', '-q', '-f', '.')
    commitFiles({
      '.github/catalog-bot.yml': `templates: [{template: t.yaml, catalog: ${catalogPath}, offer: patch}]\n`,
      [catalogPath]: '',
      't.yaml': createBasicTemplate('1.0.0', '1.1.0'),
    })
    const base = await runShellCommand(`catalog-bot render t.yaml -o yaml > ${catalogPath}`)
    const edited = createBasicTemplate('1.0.0', '1.1.0').replace(
      'replaces: lantern.v1.0.0',
      'skips: [lantern.v1.0.0]',
    )
    const head = commitFiles({ 't.yaml': edited })
    const { out } = await runCatalogBot('explain', ...listPullArguments(base, head), '--offline')
    const { actions } = JSON.parse(out) as { actions: { comment?: string }[] }
    const comment = actions.find((action) => action.comment !== undefined)?.comment ?? ''
    const patch = /```diff\n([\s\S]*?\n)```/.exec(comment)?.[1] ?? ''
    expect(patch).toContain('-  replaces: lantern.v1.0.0')
    execFileSync('git', ['-C', repositoryDirectory, 'apply', '-'], {
      input: patch,
      env: { PATH: process.env.PATH },
    })
    expect((await runCheckCommand(base, commitFiles({}), '--offline')).drift).toEqual([])
  })
})
