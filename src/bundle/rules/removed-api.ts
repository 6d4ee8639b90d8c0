import { bundleRule } from '../bundle-rule.ts'
import { removedIn } from '../removed-apis.ts'

export const removedApi = bundleRule<{ api: string; name: string; release: string }>({
  id: 'removed-api',
  suite: 'deprecated-apis',
  severity: 'warning',
  title: 'Bundles use APIs that Kubernetes still has',
  say: ({ api, name, release }) => ({
    what: `${name} is of ${api}, which Kubernetes ${release} removed`,
    why: 'The install plan fails on every newer cluster.',
    fix: 'Move to the API that replaced it.',
  }),
  *find({ objects }) {
    for (const { file, name, apiVersion, kind } of objects) {
      const release = removedIn(apiVersion, kind)
      if (release !== undefined)
        yield { file, path: ['apiVersion'], data: { api: `${apiVersion} ${kind}`, name, release } }
    }
  },
})
