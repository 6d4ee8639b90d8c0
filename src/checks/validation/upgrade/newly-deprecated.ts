// What is deprecated from now on: nothing wrong, but reviewers and users want to know.
import { locate, upgradeRule } from './upgrade-rule.ts'

export const newlyDeprecated = upgradeRule<{ what: string; message: string }>({
  id: 'newly-deprecated',
  severity: 'info',
  since: '0.1.0',
  title: 'New deprecations are meant',
  say: ({ what, message }) => ({
    what: `${what} is deprecated from now on: ${message}`,
    why: 'Clusters that use it show this message to their users.',
    fix: 'Make sure that the message tells them what to use instead.',
  }),
  *find({ kind, name: of, deprecations }, { result }) {
    if (kind !== 'changed') return
    for (const { schema, name, message } of deprecations.added) {
      const blob = result?.catalog.deprecations.find(
        ({ package: its, entries }) =>
          its === of && entries.some((entry) => entry.schema === schema && entry.name === name),
      )
      const entry = blob?.entries.find((candidate) => candidate.schema === schema && candidate.name === name)
      yield {
        at: blob && locate(blob.place, entry?.mark),
        about: [schema, name],
        data: {
          what: schema === 'olm.package' ? 'the package' : `${schema.replace('olm.', '')} "${name}"`,
          message,
        },
      }
    }
  },
})
