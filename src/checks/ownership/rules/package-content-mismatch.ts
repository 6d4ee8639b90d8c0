import { defineRule } from '@catalog-bot/findings/rule'

export const packageContentMismatch = defineRule<{
  path: string
  package: string
  home: string
  bundle?: string
}>({
  id: 'package-content-mismatch',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A file declares only packages that belong to its directory',
  format: ({ path, package: name, home, bundle }) => ({
    what:
      bundle === undefined
        ? `${path} declares content of package ${name}, which belongs in ${home}`
        : `${path} adds bundle ${bundle} to package ${name}, but package ${home} already has a bundle with that name`,
    why: 'opm combines all files that declare a package, so this file could change content that other people own.',
    fix: `Make the change in ${home}, or correct the name in this file.`,
  }),
})
