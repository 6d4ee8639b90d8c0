export interface DocumentedCommand {
  readonly file: string
  readonly line: number
  readonly command: string
  readonly place: 'checkout' | 'copy' | 'catalog'
  readonly until?: string
  readonly prints?: readonly string[]
  readonly statuses?: readonly number[]
  readonly notRun?: string
}
export function findDocumentedCommands(
  file: string,
  text: string,
  scripts: Readonly<Record<string, string>>,
): { commands: DocumentedCommand[]; problems: string[] }
export function splitCompositeCommand(command: string, scripts: Readonly<Record<string, string>>): string[]
export function findMissingOutputLine(lines: readonly string[], output: string): string | undefined
