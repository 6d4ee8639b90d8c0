/** The kinds of change that a pull request can make to a package, with the descriptions that the documentation shows. */
export const changeKindDescriptions = {
  'add-bundle': 'Adds a bundle to an existing package.',
  'edit-bundle': 'Changes a published bundle without changing its name.',
  'remove-bundle': 'Removes a bundle from a catalog, even though users might have installed it.',
  'add-edge': 'Adds channels, adds entries to a channel, or changes the upgrade edges of an entry.',
  'remove-entry':
    'Removes an entry from a channel, so users who installed that version no longer get upgrades from the channel.',
  'remove-channel': 'Removes a channel, so its subscribers no longer get upgrades.',
  'edit-default-channel':
    'Changes the default channel, which new subscribers to the package use if they do not choose a channel.',
  'edit-metadata': 'Changes the description, the icon, or blobs with custom schemas.',
  deprecate: 'Adds, changes, or removes deprecations.',
  'update-reference': 'Changes the image of an existing entry in a composite file.',
  'edit-sources':
    'Changes templates, the release configuration, or other files of the package that are not blobs.',
  'add-to-catalog': 'Adds an existing package to another catalog.',
  'add-catalog': 'Adds a catalog, for example for a new platform version.',
  'add-package': 'Adds a package that is not in any catalog yet, with its first owners.',
  'remove-package': 'Removes a package from a catalog.',
  'edit-owners': 'Changes the list of package owners.',
} as const

export type ChangeKind = keyof typeof changeKindDescriptions
export const changeKindNames = Object.keys(changeKindDescriptions) as readonly ChangeKind[]
