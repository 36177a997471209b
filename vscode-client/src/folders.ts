// Which folders of a workspace get a server of their own.

export interface Folder {
  /** As in a URI, without a slash at its end. */
  path: string;
}

/** Those that lie in no other. A folder within another is part of what the outer one's server looks at. */
export function outermost<F extends Folder>(folders: readonly F[]): F[] {
  const isWithin = (inner: F, outer: F) => inner.path.startsWith(`${outer.path}/`);
  return folders.filter(
    (folder, at) =>
      !folders.some((other) => isWithin(folder, other)) &&
      folders.findIndex((other) => other.path === folder.path) === at,
  );
}

/** Where a document belongs: to the folder that it lies in, or to the first. */
export function folderOf<F extends Folder>(path: string, folders: readonly F[]): F | undefined {
  return folders.find((folder) => path === folder.path || path.startsWith(`${folder.path}/`)) ?? folders[0];
}
