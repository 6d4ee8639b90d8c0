import { defineRule } from '@catalog-bot/findings/rule'

const unsupportedFileModeLabels: Readonly<Record<string, string>> = {
  '120000': 'a symbolic link',
  '160000': 'a submodule',
}

export const unsupportedFileMode = defineRule<{ path: string; mode: string }>({
  id: 'file-mode',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every file is a regular file',
  format: ({ path, mode }) => ({
    what: `${path} would be ${unsupportedFileModeLabels[mode] ?? 'something other than a regular file'} (mode ${mode})`,
    why: 'Links and submodules can show readers different content than catalog-bot checked.',
    fix: 'Commit the content as a regular file, or remove the path.',
  }),
})
