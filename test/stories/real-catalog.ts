// A GitHub that serves the real catalog repository beside the project, and the update of one of its packages: for the
// story and the bench. Nothing of the data is kept.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startGitHub, type GitHub } from '../../src/sandbox/github.ts'
import { startRegistry, type Registry } from '../../src/sandbox/registry.ts'
import { newPrivateKey } from '../../src/sandbox/settings.ts'
import type { OpenPull } from '../../src/sandbox/people.ts'
import type { Pull } from '../../src/sandbox/world.ts'

export const realName = 'community/operators'
const owner = 'davidebianchi'
const config = '.github/catalog-bot.yml'

export interface RealWorld {
  readonly github: GitHub
  readonly environment: Readonly<Record<string, string>>
  /** The pull request with which an owner adds the next patch version of a small package to one catalog. */
  update(catalog: string): OpenPull
  isRebuilt(pull: Pull): boolean
  stop(): Promise<void>
}

export async function openRealWorld(source: string, directory: string): Promise<RealWorld> {
  const registry: Registry = await startRegistry()
  const github = await startGitHub({ directory: join(directory, 'github') })
  for (const login of [owner, 'maintainer']) github.createUser(login)
  github.createOrganization('community', ['maintainer'])
  const repository = await github.createRepository('community', 'operators', { fromDirectory: source })
  await github.pushToBase(
    realName,
    { [config]: 'rebuild:\n  event: catalog-changed\n' },
    { by: 'maintainer' },
  )
  github.createWorkflow(realName, 'build.yml', { dispatchTypes: ['catalog-changed'], milliseconds: 200 })
  const webhookSecret = randomBytes(24).toString('hex')
  const privateKey = newPrivateKey()
  const permissions = {
    contents: 'write',
    pull_requests: 'write',
    issues: 'write',
    checks: 'write',
    actions: 'read',
    metadata: 'read',
    members: 'read',
  } as const
  const events = [
    'pull_request',
    'pull_request_review',
    'issue_comment',
    'check_run',
    'check_suite',
    'push',
    'merge_group',
    'workflow_run',
  ]
  const { app } = github.installApp({ slug: 'catalog-bot', privateKey, webhookSecret, events, permissions }, [
    realName,
  ])
  return {
    github,
    environment: {
      APP_ID: String(app.id),
      PRIVATE_KEY: privateKey,
      WEBHOOK_SECRET: webhookSecret,
      GITHUB_API_URL: github.url,
      GITHUB_URL: github.url,
      GITHUB_THROTTLE: 'off',
      DATA_DIR: join(directory, 'bot'),
      INSECURE_REGISTRIES: registry.host,
      SWEEP_SECONDS: '300',
    },
    update(catalog) {
      const path = `catalogs/${catalog}/kube-green/catalog.yaml`
      const image = 'kube-green/bundle'
      registry.putImage(image, 'v0.7.2', { files: {} })
      const changes = {
        [path]: withNextVersion(readFileSync(join(source, path), 'utf8'), `${registry.host}/${image}:v0.7.2`),
      }
      return { repository: realName, author: owner, title: `kube-green 0.7.2 in ${catalog}`, changes }
    },
    isRebuilt: (pull) =>
      github
        .checkRuns({ repo: repository, headSha: pull.merged?.sha ?? '' })
        .some((run) => run.name === 'catalog-bot / rebuild' && run.conclusion === 'success'),
    async stop() {
      await github.stop()
      await registry.stop()
    },
  }
}

/** The file with 0.7.2 after 0.7.1, made from 0.7.1's bundle. */
function withNextVersion(text: string, image: string): string {
  const documents = text.split(/^(?=---$)/m)
  const bundle = documents.find((document) => document.includes('\nname: kube-green.v0.7.1\n'))
  const old = bundle && /^image: (?<image>\S+)$/m.exec(bundle)?.groups?.image
  if (bundle === undefined || old === undefined) throw new Error('the catalog has no kube-green 0.7.1')
  // The Operator's own images stay as they are: their registries cannot be asked from everywhere.
  const next = bundle
    .replaceAll(old, image)
    .replaceAll('kube-green.v0.7.1', 'kube-green.v0.7.2')
    .replaceAll('version: 0.7.1', 'version: 0.7.2')
  const entry = '- name: kube-green.v0.7.2\n  replaces: kube-green.v0.7.1\n'
  return text.replace(/^name: alpha$/m, `${entry}name: alpha`) + next
}
