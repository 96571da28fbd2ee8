//! What must hold when a container is read, whatever its bytes are: no panic, and names that find their modules.
//! The tests beside this file and fuzz/ call it.

use gpuvcc::container::choice::{self, Wanted};
use gpuvcc::container::target::Target;
use gpuvcc::container::{self, Fault};

/// All texts of a container, as far as the driver reads it; none of what is no container. Of an archive, the fault of
/// its first damaged member.
pub fn read(bytes: &[u8]) -> Result<Vec<String>, Fault> {
    let Some(contents) = container::open(bytes)? else { return Ok(Vec::new()) };
    // What they say is not looked at, but they look at more of the bytes.
    let _ = choice::choose(&contents, &Wanted::Highest, "k");
    let _ = choice::hidden(&contents, "k", bytes, &[]);
    for image in contents.modules() {
        let chosen = choice::choose(&contents, &Wanted::Module(image.name.clone()), "k").map(|choice| choice.modules);
        assert_eq!(chosen, Ok(vec![image]), "its name finds another module");
        let of_target = |target: Target| choice::choose(&contents, &Wanted::Target(target), "k");
        assert!(image.target.is_none_or(|target| of_target(target).is_ok_and(|c| c.modules.contains(&image))));
    }
    let texts: Result<Vec<String>, Fault> = contents.modules().map(|image| contents.text(image, bytes)).collect();
    match contents.faults.into_iter().next() {
        Some(fault) => Err(fault),
        None => texts,
    }
}
