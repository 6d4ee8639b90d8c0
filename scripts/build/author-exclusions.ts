// The parts that the package for authors does not include: the App's GitHub client, which depends on Probot, a server (`doctor`
// supports only tokens there); the Kubernetes client, which would be a seventh of the package (`install --kubeconfig` is not
// available there); and zod's messages in languages other than English.
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

export const moduleExclusionPlugin: Plugin = {
  name: 'leave-out-of-authors',
  setup(building) {
    building.onLoad({ filter: /\/src\/adapters\/github\/github-app\.ts$/ }, () => ({
      contents: `export class ${appClientExport} { constructor() { throw new Error(${JSON.stringify(doctorCommandUnsupportedMessage)}) } }`,
    }))
    building.onLoad({ filter: /\/src\/cluster-test\/cluster\/open-cluster\.ts$/ }, () => ({
      contents: `export async function ${clusterClientExport}() { throw new Error(${JSON.stringify(kubeconfigUnsupportedMessage)}) }`,
    }))
    building.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
    }))
  },
}
