// A GitHub that serves the real catalog repository next to the project, and an update of one of its packages, for the
// story and the benchmark. None of the data is stored.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBotEnvironment, type BotEnvironment } from '../../sandbox/demo/bot-environment.ts'
import { pushCatalogImages } from '../../sandbox/demo/demo-environment.ts'
import type { CreatePullOptions } from '../../sandbox/github/user-actions.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'

export const realRepositoryName = 'community/operators'
const packageOwnerLogin = 'davidebianchi'
const botConfigPath = '.github/catalog-bot.yml'

export interface RealCatalogEnvironment extends Pick<BotEnvironment, 'github' | 'stop'> {
  readonly environment: Readonly<Record<string, string>>
  /** The pull request in which an owner adds the next patch version of a small package to one catalog. */
  update(catalog: string): CreatePullOptions
  /** The next update, after that one was merged. */
  again(catalog: string): CreatePullOptions
  isRebuilt(pull: MockPull): boolean
}

export async function createRealCatalogEnvironment(
  source: string,
  directory: string,
): Promise<RealCatalogEnvironment> {
  const { github, registry, installBot, stop } = await startBotEnvironment({ directory })
  for (const login of [packageOwnerLogin, 'maintainer']) github.createUser(login)
  github.createOrganization('community', ['maintainer'])
  const repository = await github.createRepository('community', 'operators', { fromDirectory: source })
  await github.pushToBase(
    realRepositoryName,
    { [botConfigPath]: 'rebuild:\n  event: catalog-changed\n' },
    { by: 'maintainer' },
  )
  github.createWorkflow(realRepositoryName, 'build.yml', {
    dispatchTypes: ['catalog-changed'],
    milliseconds: 200,
  })
  function pullWith(catalog: string, versions: readonly string[]): CreatePullOptions {
    const path = `catalogs/${catalog}/kube-green/catalog.yaml`
    let text = readFileSync(join(source, path), 'utf8')
    let last = '0.7.1'
    for (const version of versions) {
      text = addNextBundleVersion(text, last, version, `${registry.host}/kube-green/bundle:v${version}`)
      pushCatalogImages(registry, text, (bundle) => bundle === `kube-green.v${version}`)
      last = version
    }
    const title = `kube-green ${last} in ${catalog}`
    return { repository: realRepositoryName, author: packageOwnerLogin, title, changes: { [path]: text } }
  }
  return {
    github,
    environment: installBot(realRepositoryName),
    update: (catalog) => pullWith(catalog, ['0.7.2']),
    again: (catalog) => pullWith(catalog, ['0.7.2', '0.7.3']),
    isRebuilt: (pull) =>
      github
        .checkRuns({ repo: repository, headSha: pull.merged?.sha ?? '' })
        .some((run) => run.name === 'catalog-bot / rebuild' && run.conclusion === 'success'),
    stop,
  }
}

/** The file with one more version, based on its last bundle. */
function addNextBundleVersion(text: string, from: string, to: string, image: string): string {
  const documents = text.split(/^(?=---$)/m)
  const bundle = documents.find((document) => document.includes(`\nname: kube-green.v${from}\n`))
  const old = bundle && /^image: (?<image>\S+)$/m.exec(bundle)?.groups?.image
  if (bundle === undefined || old === undefined) throw new Error(`the catalog has no kube-green ${from}`)
  // The Operator's own images stay unchanged, because not every environment can reach their registries.
  const next = bundle
    .replaceAll(old, image)
    .replaceAll(`kube-green.v${from}`, `kube-green.v${to}`)
    .replaceAll(`version: ${from}`, `version: ${to}`)
  const entry = `- name: kube-green.v${to}\n  replaces: kube-green.v${from}\n`
  return text.replace(/^name: alpha$/m, `${entry}name: alpha`) + next
}
