// The parts that the package for authors does not include: the App's GitHub client, which depends on Probot, a server (`doctor`
// supports only tokens there); the Kubernetes client, which would be a seventh of the package (`install --kubeconfig` is not
// available there); and zod's messages in languages other than English.
import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import type * as clusterModule from '../../src/cluster-test/cluster/open-cluster.ts'
import type * as githubAppModule from '../../src/adapters/github/github-app.ts'

const doctorCommandUnsupportedMessage =
  'This package cannot authenticate as the App. Unset APP_ID and use --app and GITHUB_TOKEN, or run doctor where the App runs.'

const kubeconfigUnsupportedMessage =
  '--kubeconfig is not available in this package. Run catalog-bot from a checkout or its container image instead.'

/** Typed, because the stub with another name would be `undefined` to its callers. */
const appClientExport: keyof typeof githubAppModule = 'GitHubApp'
const clusterClientExport: keyof typeof clusterModule = 'createKubeClusterClient'

export function createModuleExclusionPlugin(sources: string): Plugin {
  const client = join(sources, 'adapters', 'github', 'github-app.js')
  const cluster = join(sources, 'cluster-test', 'cluster', 'open-cluster.js')
  return {
    name: 'leave-out-of-authors',
    setup(building) {
      building.onLoad({ filter: /github-app\.js$/ }, ({ path }) =>
        path === client
          ? {
              contents: `export class ${appClientExport} { constructor() { throw new Error(${JSON.stringify(doctorCommandUnsupportedMessage)}) } }`,
            }
          : undefined,
      )
      building.onLoad({ filter: /open-cluster\.js$/ }, ({ path }) =>
        path === cluster
          ? {
              contents: `export async function ${clusterClientExport}() { throw new Error(${JSON.stringify(kubeconfigUnsupportedMessage)}) }`,
            }
          : undefined,
      )
      building.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
        contents: "export { default as en } from './en.js'",
      }))
    },
  }
}
