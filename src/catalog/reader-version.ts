// Which reading of catalog files this is: facts that were remembered under another number are read anew.
// Raise it whenever FileFacts changes, or a file would give other facts than before.

export const readerVersion = 1
